// Package consultest starts real Consul agents for tests.
//
// Every agent listens only on 127.0.0.1, on free ports and never on 8500, and keeps its files in a temporary folder.
// It ends before its test does. [Dev] starts fastest, [Server] keeps its data over a restart, [Cluster] can lose its
// quorum, and [Client] starts a client agent. [Shared] is one development agent for a whole test binary; TestMain ends
// it by calling [Main] or [Wrap].
//
// [StartProxy] starts a proxy that injects faults in front of an agent. [StartServer] starts a server for programs that
// are not tests, such as tools/bench.
//
// Tests that need an agent are skipped with -short. Without a Consul binary they fail with a message that says how to
// get one.
package consultest
