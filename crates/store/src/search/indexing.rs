//! Writers of the search index: a simple one for few definitions, tantivy's own for many.

use std::path::Path;
use std::sync::Arc;

use tantivy::index::SegmentMeta;
use tantivy::indexer::{IndexWriterOptions, NoMergePolicy, merge_filtered_segments};
use tantivy::{Document, Index, IndexWriter, Segment, SingleSegmentIndexWriter, TantivyDocument};

use super::index::{self, settings, tantivy_schema, tokenizers};
use super::segments::{self, Segments};
use crate::Error;
use crate::life::identity::Identities;
use crate::packs::map::MappedFile;

/// Maximum number of segments before the smallest are merged: each adds a little to every query.
const MOST_SEGMENTS: usize = 10;

/// Segments that a commit merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergedSegments {
    /// The smallest of too many, and those with many deletions.
    Small,
    /// Those too that have any deletion: nothing is left of what was deleted.
    Wasted,
}

/// A document to be indexed. Dropping it releases `_held`.
pub struct Waiting {
    pub document: TantivyDocument,
    pub _held: Option<Arc<dyn Send + Sync>>,
}

impl Document for Waiting {
    type Value<'a> = <TantivyDocument as Document>::Value<'a>;
    type FieldsValuesIter<'a> = <TantivyDocument as Document>::FieldsValuesIter<'a>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        self.document.iter_fields_and_values()
    }

    fn into_tantivy_document(self) -> TantivyDocument {
        self.document
    }
}

/// Writer of a segment for a few definitions, without threads. The full writer's threads and tables take longer to
/// set up than a few definitions take to write.
pub struct SmallSegmentWriter {
    writer: SingleSegmentIndexWriter<Waiting>,
    segments: Segments,
}

impl SmallSegmentWriter {
    /// Initial memory for its terms, in bytes.
    const MEMORY: usize = 1_000_000;

    /// Creates a writer for a segment beside the existing ones.
    pub fn beside(segments: &Segments) -> Result<Self, Error> {
        let segments = segments.beside();
        let index = Index::builder().schema(tantivy_schema()).settings(settings()).tokenizers(tokenizers());
        Ok(Self { writer: index.single_segment_index_writer(segments.clone(), Self::MEMORY)?, segments })
    }

    /// Adds a definition.
    pub fn add(&mut self, waiting: Waiting) -> Result<(), Error> {
        Ok(self.writer.add_document(waiting)?)
    }

    /// Memory use in bytes.
    pub fn memory(&self) -> usize {
        self.writer.mem_usage()
    }

    /// Writes the segment and adds it to the list.
    pub fn finish(self, all: &Segments) -> Result<(), Error> {
        self.writer.finalize()?;
        all.take_over(&self.segments, &[]);
        Ok(())
    }
}

/// Opens tantivy's writer, for many definitions.
pub fn open_writer(segments: Segments, memory: usize) -> Result<IndexWriter<Waiting>, Error> {
    let options = IndexWriterOptions::builder().num_worker_threads(1).memory_budget_per_thread(memory).build();
    let writer = index::open(segments)?.writer_with_options(options)?;
    writer.set_merge_policy(Box::new(NoMergePolicy));
    Ok(writer)
}

/// Commits additions and deletions, then merges segments. The segments lie in `dir`, with these identities; `memory`
/// is the writer's buffer size.
pub fn commit(
    (few, many): (Option<SmallSegmentWriter>, Option<IndexWriter<Waiting>>),
    gone: &[u32],
    segments: Segments,
    (dir, memory): (&Path, usize),
    identities: &Identities,
    joined: MergedSegments,
) -> Result<(), Error> {
    if !gone.is_empty() {
        // Deletions read every segment, and tantivy trusts its files.
        let names = segments.meta().map_or_else(Vec::new, |meta| segments::files_in(&meta));
        names.iter().try_for_each(|name| identities.check(&MappedFile::open(&dir.join(name))?))?;
    }
    few.map_or(Ok(()), |few| few.finish(&segments))?;
    if many.is_some() || !gone.is_empty() || segments.meta().is_none() {
        let mut writer = many.map_or_else(|| open_writer(segments.clone(), memory), Ok)?;
        for file in gone {
            writer.delete_term(index::file_term(*file));
        }
        writer.commit()?;
        writer.wait_merging_threads()?;
    }
    join(&segments, dir, identities, joined)
}

fn join(segments: &Segments, dir: &Path, identities: &Identities, joined: MergedSegments) -> Result<(), Error> {
    let mut all = index::open(segments.clone())?.searchable_segments()?;
    all.sort_by_key(|segment| segment.meta().num_docs());
    let small = match all.len().saturating_sub(MOST_SEGMENTS) {
        0 => 0,
        more => (more + MOST_SEGMENTS / 2).min(all.len()),
    };
    let is_wasted = |meta: &SegmentMeta| match joined {
        MergedSegments::Small => 3 * meta.num_deleted_docs() > meta.max_doc(),
        MergedSegments::Wasted => meta.num_deleted_docs() > 0,
    };
    let numbered = all.into_iter().enumerate();
    let joined: Vec<Segment> =
        numbered.filter(|(at, segment)| *at < small || is_wasted(segment.meta())).map(|(_, segment)| segment).collect();
    if joined.is_empty() {
        return Ok(());
    }
    // Merging damaged files would give them valid checksums.
    let ids: Vec<String> = joined.iter().map(|segment| segment.id().uuid_string()).collect();
    for name in ids.iter().flat_map(|id| segments::files_of(id)) {
        let file = MappedFile::open(&dir.join(name))?;
        identities.check(&file)?;
        segments::check_file(&file, u64::MAX)?;
    }
    let one = segments.beside();
    if joined.iter().any(|segment| segment.meta().num_docs() > 0) {
        merge_filtered_segments(&joined, settings(), joined.iter().map(|_| None).collect(), one.clone())?;
    }
    segments.take_over(&one, &ids);
    Ok(())
}
