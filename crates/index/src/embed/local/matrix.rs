//! Products of matrices.

/// A matrix in a slice.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a> {
    pub numbers: &'a [f32],
    pub rows: usize,
    pub columns: usize,
    /// The distance from one row to the next, in numbers.
    pub stride: usize,
}

/// Adds `factor` times a matrix times another's transpose to `sum`, whose rows are `stride` apart.
pub(super) fn add_product(factor: f32, a: Matrix<'_>, b_transposed: Matrix<'_>, sum: &mut [f32], stride: usize) {
    let b = b_transposed;
    multiply(factor, a, (b, b.columns, b.rows, 1, b.stride), sum, stride);
}

/// Adds a matrix times another to `sum`, whose rows are `stride` apart.
pub(super) fn add_plain_product(a: Matrix<'_>, b: Matrix<'_>, sum: &mut [f32], stride: usize) {
    multiply(1.0, a, (b, b.rows, b.columns, b.stride, 1), sum, stride);
}

/// Multiplies matrices; `b` comes with its rows, its columns, and the distances between them.
fn multiply(
    factor: f32,
    a: Matrix<'_>,
    (b, b_rows, b_columns, b_down, b_right): (Matrix<'_>, usize, usize, usize, usize),
    sum: &mut [f32],
    stride: usize,
) {
    let is_within = |length: usize, rows: usize, columns: usize, stride: usize| {
        rows == 0 || columns <= stride && (rows - 1) * stride + columns <= length
    };
    assert_eq!(a.columns, b_rows, "the shapes were checked when the model was read");
    assert!(is_within(a.numbers.len(), a.rows, a.columns, a.stride));
    assert!(is_within(b.numbers.len(), b.rows, b.columns, b.stride));
    assert!(is_within(sum.len(), a.rows, b_columns, stride));
    // SAFETY: every element that the shapes and strides reach lies in its slice, as asserted.
    unsafe {
        matrixmultiply::sgemm(
            a.rows,
            a.columns,
            b_columns,
            factor,
            a.numbers.as_ptr(),
            a.stride as isize,
            1,
            b.numbers.as_ptr(),
            b_down as isize,
            b_right as isize,
            1.0,
            sum.as_mut_ptr(),
            stride as isize,
            1,
        );
    }
}
