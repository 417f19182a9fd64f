//! The API group and every key we write on objects.
//!
//! The group is spelled here and nowhere else, so that the name can be changed in one line.

macro_rules! group {
    () => {
        "kcp.dev"
    };
}

/// API group of all our kinds, and prefix of all our labels, annotations and taints.
pub const GROUP: &str = group!();
/// Version of all our kinds.
pub const VERSION: &str = "v1alpha1";
/// What `apiVersion` of each of our documents says: group and version.
pub const API_VERSION: &str = concat!(group!(), "/v1alpha1");
/// Field manager of everything we apply.
pub const FIELD_MANAGER: &str = "kcp";

/// Annotation on what we write: name of the workspace that owns the object.
pub const ANNOTATION_WORKSPACE: &str = concat!(group!(), "/workspace");
/// Annotation on what we write: name of the placement that brought the object here.
pub const ANNOTATION_PLACEMENT: &str = concat!(group!(), "/placement");
/// Annotation on what we write: the commit of the last real change. Not part of the content hash.
pub const ANNOTATION_COMMIT: &str = concat!(group!(), "/commit");
/// Annotation on what we write: the file of the repo it comes from. Not part of the content hash.
pub const ANNOTATION_SOURCE: &str = concat!(group!(), "/source");
/// Annotation a user sets: `disabled` keeps the object when it leaves the repo.
pub const ANNOTATION_PRUNE: &str = concat!(group!(), "/prune");
/// Annotation a user sets: the object is created when missing and never updated.
pub const ANNOTATION_CREATE_ONLY: &str = concat!(group!(), "/create-only");
/// Annotation a user sets: the object is not applied at all.
pub const ANNOTATION_IGNORE: &str = concat!(group!(), "/ignore");
/// Annotation a user sets: a cluster that cannot take this object is still a candidate for the rest.
pub const ANNOTATION_OPTIONAL: &str = concat!(group!(), "/optional");
/// Annotation a user sets: never two live copies of this object.
pub const ANNOTATION_SINGLETON: &str = concat!(group!(), "/singleton");
/// Annotation a user sets: `OnImmutable` deletes and creates again when a field cannot be changed in place.
pub const ANNOTATION_REPLACE: &str = concat!(group!(), "/replace");
/// Taint that a cluster carries while it cannot be reached.
pub const TAINT_UNREACHABLE: &str = concat!(group!(), "/unreachable");

/// Marks that change without a change of content (another commit, a renamed file or placement): they are outside the
/// content hash and are written only together with a real change.
pub const ANNOTATIONS_OUTSIDE_CONTENT: [&str; 3] =
    [ANNOTATION_COMMIT, ANNOTATION_PLACEMENT, ANNOTATION_SOURCE];

#[cfg(test)]
mod tests {
    use super::{API_VERSION, GROUP, VERSION};

    #[test]
    fn api_version_is_group_and_version() {
        assert_eq!(API_VERSION, format!("{GROUP}/{VERSION}"));
    }
}
