//! A directory of another repository, built as a part of this build: in its own tree, of which nothing leads out, and
//! within what is left of this build's limits.

use std::collections::HashSet;

use crate::accumulate::Accumulated;
use crate::build::{Builder, Place};
use crate::directories::{Base, Role};
use crate::kustomization::Located;
use crate::read::Reader;
use crate::remote::{Fetched, Remote, within};
use crate::{Origin, ProblemKind, path};

impl Builder<'_> {
    /// What the directory at an address gives; problems where it cannot be had.
    pub(crate) fn remote(
        &mut self,
        place: Place<'_>,
        role: Role,
        entry: &Located<String>,
        base: Base<'_>,
    ) -> Accumulated {
        let found = self.bring(&entry.value).and_then(|(remote, fetched)| {
            let dir = path::resolve("", &fetched.dir)
                .map_err(|_| (ProblemKind::Outside, "what was fetched is outside its own tree".to_owned()))?;
            Ok((remote, fetched, dir))
        });
        let (remote, fetched, dir) = match found {
            Ok(found) => found,
            Err((kind, why)) => {
                // What is written may hold a password where it is no address.
                self.problems.push(place.problem(
                    entry.at,
                    kind,
                    format!("an address of another repository: {why}"),
                ));
                return base.into_parent();
            }
        };
        let mut reader = Reader::new(&*fetched.files, self.reader.limits, self.reader.schema());
        let read = self.reader.bytes_read();
        reader.count(read);
        let noted = self.reader.trace.is_on();
        if noted {
            reader.trace.begin();
        }
        let (origins, warned): (HashSet<Origin>, usize) = match &base {
            Base::New(_) => Default::default(),
            Base::Parent(parent) => {
                let origins = parent.items.iter().map(|item| item.resource.origin.clone()).collect();
                (origins, parent.warnings.len())
            }
        };
        let mut inner = Builder {
            reader,
            fetcher: self.fetcher,
            cache: None,
            open: Vec::new(),
            around: self.around + self.open.len(),
            built: self.built,
            problems: Vec::new(),
            schema: std::mem::take(&mut self.schema),
            schema_choice: self.schema_choice,
            warnings: Vec::new(),
            via: std::mem::take(&mut self.via),
            metadata: self.metadata,
        };
        let mut built = inner.directory(place, role, entry, &dir, base);
        self.reader.count(inner.reader.bytes_read().saturating_sub(read));
        if noted {
            for (remote, id) in inner.reader.trace.end().fetched {
                self.reader.trace.fetched(&remote, &id);
            }
        }
        self.built = inner.built;
        self.schema = inner.schema;
        self.schema_choice = inner.schema_choice;
        self.via = inner.via;
        let show = |file: &mut String| {
            if !file.contains("://") {
                *file = within(&remote, file);
            }
        };
        for item in built.items.iter_mut().filter(|item| !origins.contains(&item.resource.origin)) {
            show(&mut item.resource.origin.file);
        }
        built.warnings.iter_mut().skip(warned).for_each(|warning| show(&mut warning.file));
        for mut problem in inner.problems {
            // One that is about the entry itself is in our own file.
            if problem.file != place.file
                || (problem.line, problem.column) != (entry.at.line, entry.at.column)
            {
                show(&mut problem.file);
            }
            self.problems.push(problem);
        }
        built
    }

    fn bring(&self, written: &str) -> Result<(Remote, Fetched), (ProblemKind, String)> {
        let limit = self.reader.limits.nesting;
        if self.around + self.open.len() >= limit {
            return Err((ProblemKind::Limit, format!("more than {limit} kustomizations inside each other")));
        }
        let remote = Remote::parse(written).map_err(|why| (ProblemKind::Invalid, why.to_owned()))?;
        let Some(fetcher) = self.fetcher else {
            return Err((ProblemKind::Unsupported, "nothing is fetched while rendering".into()));
        };
        let fetched =
            fetcher.fetch(&remote).map_err(|why| (ProblemKind::Unsupported, format!("{remote}: {why}")))?;
        self.reader.trace.fetched(&remote, &fetched.id);
        Ok((remote, fetched))
    }
}
