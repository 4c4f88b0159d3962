// Package consultest starts real Consul agents for tests.
//
// Every agent listens on 127.0.0.1 only, on free ports of its own and never on 8500, keeps its files in a temporary
// folder, and is ended and waited for before the test that asked for it is over. [Dev] is the cheapest kind, [Server]
// keeps its data over a restart, [Cluster] has a quorum to lose, [Client] is no server, and [Shared] is one development agent for a whole
// test binary, which its TestMain ends by calling [Main] or [Wrap].
//
// [StartProxy] puts a proxy that injects faults in front of an agent.
//
// [StartServer] gives programs that are no tests, tools/bench for one, a server to end by themselves.
//
// Tests that need an agent are skipped under -short. Without a Consul binary they fail with a line that says how to
// get one.
package consultest
