//! Reads a safetensors file: a JSON header with the position of each tensor, then their bytes.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 4 << 30;
/// Largest header.
const LARGEST_HEADER: u64 = 64 << 20;

/// The tensors of a file.
#[derive(Debug)]
pub(super) struct Tensors {
    bytes: Vec<u8>,
    /// The offset of the tensors' bytes.
    start: usize,
    header: HashMap<String, Place>,
}

/// The numbers of a tensor, row by row.
#[derive(Clone, Debug, Default)]
pub(super) struct Tensor {
    pub shape: Vec<usize>,
    pub numbers: Vec<f32>,
}

#[derive(Debug, Deserialize)]
struct Place {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl Tensors {
    /// Reads a file. Fails with a description of the problem.
    pub fn read(path: &Path) -> Result<Self, String> {
        let named = |err: &dyn std::fmt::Display| format!("{}: {err}", path.display());
        let size = std::fs::metadata(path).map_err(|err| named(&err))?.len();
        if size > LARGEST {
            return Err(named(&"it is larger than 4 GB"));
        }
        Self::of(std::fs::read(path).map_err(|err| named(&err))?).map_err(|err| named(&err))
    }

    fn of(bytes: Vec<u8>) -> Result<Self, String> {
        let damaged = || "it is not a safetensors file".to_owned();
        let length = bytes.first_chunk::<8>().map(|length| u64::from_le_bytes(*length));
        let length = length.filter(|length| *length <= LARGEST_HEADER).ok_or_else(damaged)? as usize;
        let header = bytes.get(8..8 + length).ok_or_else(damaged)?;
        let mut header: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(header).map_err(|_| damaged())?;
        header.remove("__metadata__");
        let place = |(name, place)| Some((name, serde_json::from_value(place).ok()?));
        let header = header.into_iter().map(place).collect::<Option<_>>().ok_or_else(damaged)?;
        Ok(Self { bytes, start: 8 + length, header })
    }

    /// The whole file, to hash it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether there is a tensor of this name.
    pub fn has(&self, name: &str) -> bool {
        self.header.contains_key(name)
    }

    /// Names of all tensors.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.header.keys().map(String::as_str)
    }

    /// A tensor, converted to single precision.
    pub fn get(&self, name: &str) -> Result<Tensor, String> {
        let Place { dtype, shape, data_offsets: (from, to) } =
            self.header.get(name).ok_or_else(|| format!("it has no tensor {name}"))?;
        let damaged = || format!("the tensor {name} is damaged");
        let within = |at: &usize| self.start.checked_add(*at);
        let bytes = within(from).zip(within(to)).and_then(|(from, to)| self.bytes.get(from..to)).ok_or_else(damaged)?;
        let numbers: Vec<f32> = match dtype.as_str() {
            "F32" => each(bytes, f32::from_le_bytes),
            "F64" => each(bytes, |number| f64::from_le_bytes(number) as f32),
            "F16" => each(bytes, |number| of_half(u16::from_le_bytes(number))),
            "BF16" => each(bytes, |number| f32::from_bits(u32::from(u16::from_le_bytes(number)) << 16)),
            "I8" => each(bytes, |[number]: [u8; 1]| f32::from(number as i8)),
            // Row numbers, which single precision holds exactly up to 16 million.
            "I32" => each(bytes, |number| i32::from_le_bytes(number) as f32),
            "I64" => each(bytes, |number| i64::from_le_bytes(number) as f32),
            _ => return Err(format!("the tensor {name} has numbers of type {dtype}")),
        };
        let count = shape.iter().try_fold(1_usize, |count, length| count.checked_mul(*length));
        match count == Some(numbers.len()) && numbers.iter().all(|number| number.is_finite()) {
            true => Ok(Tensor { shape: shape.clone(), numbers }),
            false => Err(damaged()),
        }
    }

    /// A tensor that must have this shape.
    pub fn shaped(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, String> {
        let tensor = self.get(name)?;
        match tensor.shape == shape {
            true => Ok(tensor.numbers),
            false => Err(format!("the tensor {name} has the shape {:?} instead of {shape:?}", tensor.shape)),
        }
    }
}

fn each<const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> f32) -> Vec<f32> {
    bytes.as_chunks::<N>().0.iter().map(|bytes| number(*bytes)).collect()
}

/// Converts a half-precision number.
fn of_half(half: u16) -> f32 {
    let (sign, exponent, fraction) = (u32::from(half >> 15) << 31, half >> 10 & 31, half & 1023);
    let size = match exponent {
        0 => f32::from(fraction) / 16_777_216.0,
        31 => return f32::NAN,
        _ => f32::from_bits((u32::from(exponent) + 112) << 23 | u32::from(fraction) << 13),
    };
    f32::from_bits(size.to_bits() | sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_width_are_read() {
        let header = r#"{"a":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]},"b":{"dtype":"I8","shape":[1],"data_offsets":[8,9]}}"#;
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend([0x00_u8, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0x55, 0x35, 0xff]);
        let tensors = Tensors::of(bytes.clone()).expect("it is whole");
        let tensor = tensors.get("a").expect("it is there");
        assert_eq!((&tensor.shape[..], &tensor.numbers[..2]), (&[2, 2][..], &[1.0, -2.0][..]));
        assert!((tensor.numbers[2] - 5.960_464_5e-8).abs() < 1e-12 && (tensor.numbers[3] - 0.333_25).abs() < 1e-4);
        assert_eq!(tensors.get("b").expect("it is there").numbers, [-1.0]);
        assert!(tensors.shaped("a", &[4]).expect_err("it has two dimensions").contains("[2, 2]"));
        assert!(tensors.get("c").expect_err("there is none").contains("no tensor c"));
        for end in 0..bytes.len() {
            let cut = Tensors::of(bytes[..end].to_vec()).and_then(|tensors| tensors.get("b"));
            assert!(cut.is_err(), "{end}");
        }
    }
}
