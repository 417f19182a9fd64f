//! Against what others say: cargo, kubectl, kustomize.
mod edges;
mod kustomize;
