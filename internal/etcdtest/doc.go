// Package etcdtest starts real etcd clusters for tests.
//
// Every member listens only on 127.0.0.1, on free ports, and keeps its files in a temporary folder. It ends before its
// test ends. [Start] starts a cluster for one test; [Shared] returns one member for a whole test binary, and TestMain
// must call [Wrap], which ends this member. [Member] can be killed, frozen and started again with its data;
// [Cluster.Restore] loads a snapshot. [StartProxy] starts a TCP proxy that cuts connections or makes them half-open.
//
// With -short, tests that need etcd are skipped. Without an etcd binary, they fail with a message that says how to
// build etcd.
package etcdtest
