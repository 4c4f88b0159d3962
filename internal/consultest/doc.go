// Package consultest starts real Consul agents for tests.
//
// Every agent listens only on 127.0.0.1, on free ports and never on 8500, and keeps its files in a temporary folder.
// It stops before its test ends. [Dev] starts fastest, [Server] keeps its data after a restart, [Cluster] can lose its
// quorum, and [Client] starts a client agent. [Shared] returns one development agent for a whole test binary; TestMain
// must call [Wrap], which ends this agent.
//
// [StartProxy] starts a proxy that injects faults in front of an agent. [StartServer] starts a server for programs that
// are not tests, such as tools/bench.
//
// With -short, tests that need an agent are skipped. Without a Consul binary, they fail with a message that says how
// to install Consul.
package consultest
