//! Writing the search index: a few definitions by the thread that adds them, many by tantivy's own.

use std::path::Path;
use std::sync::Arc;

use tantivy::index::SegmentMeta;
use tantivy::indexer::{IndexWriterOptions, NoMergePolicy, merge_filtered_segments};
use tantivy::{Document, Index, IndexWriter, Segment, SingleSegmentIndexWriter, TantivyDocument};

use super::index::{self, settings, tantivy_schema, tokenizers};
use super::segments::{self, Segments};
use crate::store::Error;
use crate::store::packs::map::Mapped;

/// So many segments may stand side by side before the smallest are joined: each costs every query a little.
const MOST_SEGMENTS: usize = 10;

/// A document on its way into the search index. What is held for it is let go of when it has been taken up.
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

/// A segment of a few definitions in the making, by the thread that adds them: the threads and tables of a writer of many take
/// longer to be made ready than a few take to be written.
pub struct Few {
    writer: SingleSegmentIndexWriter<Waiting>,
    segments: Segments,
}

impl Few {
    /// Bytes that it lays out for its terms at first.
    const MEMORY: usize = 1_000_000;

    /// One that will be another of these segments.
    pub fn beside(segments: &Segments) -> Result<Self, Error> {
        let segments = segments.beside();
        let index = Index::builder().schema(tantivy_schema()).settings(settings()).tokenizers(tokenizers());
        Ok(Self { writer: index.single_segment_index_writer(segments.clone(), Self::MEMORY)?, segments })
    }

    /// Adds a definition.
    pub fn add(&mut self, waiting: Waiting) -> Result<(), Error> {
        Ok(self.writer.add_document(waiting)?)
    }

    /// Bytes of memory that it takes.
    pub fn memory(&self) -> usize {
        self.writer.mem_usage()
    }

    /// Writes it, and makes it one of those that it was to be beside.
    pub fn finish(self, all: &Segments) -> Result<(), Error> {
        self.writer.finalize()?;
        all.take_over(&self.segments, &[]);
        Ok(())
    }
}

/// A writer of many definitions to the search index.
pub fn open_writer(segments: Segments, memory: usize) -> Result<IndexWriter<Waiting>, Error> {
    let options = IndexWriterOptions::builder().num_worker_threads(1).memory_budget_per_thread(memory).build();
    let writer = index::open(segments)?.writer_with_options(options)?;
    writer.set_merge_policy(Box::new(NoMergePolicy));
    Ok(writer)
}

/// Makes these segments, which lie in `dir`, what the search index is to be: with what was added, without the files that are
/// gone, and not too many. `memory` is what a writer may fill.
pub fn commit(
    (few, many): (Option<Few>, Option<IndexWriter<Waiting>>),
    gone: &[u32],
    segments: Segments,
    (dir, memory): (&Path, usize),
) -> Result<(), Error> {
    few.map_or(Ok(()), |few| few.finish(&segments))?;
    if many.is_some() || !gone.is_empty() || segments.meta().is_none() {
        let mut writer = many.map_or_else(|| open_writer(segments.clone(), memory), Ok)?;
        for file in gone {
            writer.delete_term(index::file_term(*file));
        }
        writer.commit()?;
        writer.wait_merging_threads()?;
    }
    join(&segments, dir)
}

/// Makes one segment of the smallest, where there are too many, and of those of which much is deleted.
fn join(segments: &Segments, dir: &Path) -> Result<(), Error> {
    let mut all = index::open(segments.clone())?.searchable_segments()?;
    all.sort_by_key(|segment| segment.meta().num_docs());
    let small = match all.len().saturating_sub(MOST_SEGMENTS) {
        0 => 0,
        more => (more + MOST_SEGMENTS / 2).min(all.len()),
    };
    let is_wasted = |meta: &SegmentMeta| 3 * meta.num_deleted_docs() > meta.max_doc();
    let numbered = all.into_iter().enumerate();
    let joined: Vec<Segment> =
        numbered.filter(|(at, segment)| *at < small || is_wasted(segment.meta())).map(|(_, segment)| segment).collect();
    if joined.is_empty() {
        return Ok(());
    }
    // What is damaged must not get checksums of its own.
    let ids: Vec<String> = joined.iter().map(|segment| segment.id().uuid_string()).collect();
    for name in ids.iter().flat_map(|id| segments::files_of(id)) {
        segments::check_file(&Mapped::open(&dir.join(name))?, u64::MAX)?;
    }
    let one = segments.beside();
    if joined.iter().any(|segment| segment.meta().num_docs() > 0) {
        merge_filtered_segments(&joined, settings(), joined.iter().map(|_| None).collect(), one.clone())?;
    }
    segments.take_over(&one, &ids);
    Ok(())
}
