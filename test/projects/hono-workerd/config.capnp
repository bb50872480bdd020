using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "network", network = (allow = ["private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);

const worker :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.mjs")],
  compatibilityDate = "2025-06-01",
  globalOutbound = "network",
  bindings = [
    (name = "MESSAGING_API_KEY", fromEnvironment = "MESSAGING_API_KEY"),
    (name = "MESSAGING_BASE_URL", fromEnvironment = "MESSAGING_BASE_URL"),
  ],
);
