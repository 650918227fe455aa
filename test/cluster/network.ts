/** Hosts of a cluster: a network namespace each, joined by a bridge that leads nowhere else. */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/** RFC 2544 reserves 198.18.0.0/15 for tests. */
const NETWORK = '198.18.0'
const RUN = '/run/netns'

export interface Host {
  readonly name: string
  readonly address: string
  /** The command line that runs a command on this host. */
  on(command: readonly string[]): string[]
  /** Every process on it. */
  pids(): number[]
  signal(signal: NodeJS.Signals): void
  /** Packets from and to the peer, or everyone, disappear without an answer. Returns what ends it. */
  drop(peer?: Host, port?: number): () => void
  /** What it sends is limited to so many kilobits a second. Returns what ends it. */
  slow(kilobits: number): () => void
}

export function run(...command: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command[0]!, command.slice(1), { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command.join(' ')}: ${error?.message ?? stderr}`)
  return stdout
}

/** Call once, in the namespaces of the cluster; `dir` is for files that hide those of the machine. */
export function createNetwork(dir: string): void {
  fs.mkdirSync(RUN, { recursive: true })
  run('mount', '-t', 'tmpfs', 'tmpfs', RUN) // The names of hosts are seen by nobody else and end with the cluster.
  // There is no name server: nobody waits for one, and the machine has its own name, as Debian's installer writes it.
  const hide = (file: string, text: string) => {
    const own = path.join(dir, path.basename(file))
    fs.writeFileSync(own, text)
    run('mount', '--bind', own, file)
  }
  hide('/etc/resolv.conf', 'nameserver 127.0.0.1\n')
  hide('/etc/hosts', `127.0.0.1 localhost\n127.0.1.1 ${os.hostname()}\n`)
  run('ip', 'link', 'set', 'lo', 'up')
  run('ip', 'link', 'add', 'hosts', 'type', 'bridge')
  run('ip', 'addr', 'add', `${NETWORK}.1/24`, 'dev', 'hosts')
  run('ip', 'link', 'set', 'hosts', 'up')
}

export function createHost(name: string, number: number): Host {
  const address = `${NETWORK}.${number}`
  const port = `to-${name}`
  run('ip', 'netns', 'add', name)
  run('ip', 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
  run('ip', 'link', 'set', port, 'master', 'hosts', 'up')
  run('ip', '-n', name, 'addr', 'add', `${address}/24`, 'dev', 'eth0')
  run('ip', '-n', name, 'link', 'set', 'eth0', 'up')
  run('ip', '-n', name, 'link', 'set', 'lo', 'up')
  const on = (command: readonly string[]) => ['nsenter', `--net=${RUN}/${name}`, ...command]
  const pids = () => run('ip', 'netns', 'pids', name).split('\n').filter(Boolean).map(Number)
  return {
    name,
    address,
    on,
    pids,
    signal(signal) {
      for (const pid of pids()) {
        try {
          process.kill(pid, signal)
        } catch {} // It has just ended.
      }
    },
    drop(peer, port) {
      const rules = [
        ['INPUT', ...(peer ? ['-s', peer.address] : ['!', '-i', 'lo']), ...(port ? ['-p', 'tcp', '--sport', `${port}`] : [])],
        ['OUTPUT', ...(peer ? ['-d', peer.address] : ['!', '-o', 'lo']), ...(port ? ['-p', 'tcp', '--dport', `${port}`] : [])],
      ]
      const change = (how: '-I' | '-D') => {
        for (const [chain = '', ...match] of rules) run(...on(['iptables', '-w', how, chain, ...match, '-j', 'DROP']))
      }
      change('-I')
      return () => change('-D')
    },
    slow(kilobits) {
      run(...on(['tc', 'qdisc', 'add', 'dev', 'eth0', 'root', 'tbf', 'rate', `${kilobits}kbit`, 'burst', '16kb', 'latency', '30s']))
      return () => void run(...on(['tc', 'qdisc', 'del', 'dev', 'eth0', 'root']))
    },
  }
}
