// The module of which etcd is built.
module hindcast.invalid/verify-k8s/etcd

go 1.24.0

require go.etcd.io/etcd/server/v3 v3.5.21
