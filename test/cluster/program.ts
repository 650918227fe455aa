/** A program on a host, started again when it ends, as a service manager does. */
import { spawn, type ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import type { Host } from './network.ts'

/** As systemd units commonly set it. */
const RESTART_MS = 2_000

interface Specification {
  host: Host
  name: string
  command: readonly string[]
  env?: Record<string, string>
  cwd?: string
  user?: string
  logDir: string
}

export class Program {
  readonly host: Host
  readonly name: string
  #spec: Specification
  #child: ChildProcess | null = null
  #isWanted = false
  #exited: Promise<void> = Promise.resolve()
  /** How it ended when nobody had ended it. */
  readonly unexpected: string[] = []
  #isStruck = false

  constructor(spec: Specification) {
    this.#spec = spec
    this.host = spec.host
    this.name = spec.name
  }

  /** From the next start on. */
  change(spec: Pick<Specification, 'cwd' | 'command'>): void {
    this.#spec = { ...this.#spec, ...spec }
  }

  start(): void {
    this.#isWanted = true
    this.#isStruck = false
    const { command, env = {}, cwd, user, logDir } = this.#spec
    const identity = user ? ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups'] : []
    const [program = '', ...args] = this.host.on([...identity, ...command])
    const log = fs.openSync(`${logDir}/${this.name}`, 'a')
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const inherited = { ...(PATH ? { PATH } : {}), ...(NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}) }
    // A session of its own, as a service manager gives it: Linux shares the processor between sessions.
    const child = spawn(program, args, { cwd: cwd ?? '/', env: { ...inherited, ...env }, stdio: ['ignore', log, log], detached: true })
    fs.closeSync(log)
    this.#child = child
    this.#exited = new Promise((resolve) =>
      child.once('exit', (code, signal) => {
        resolve()
        if (!this.#isWanted || this.#child !== child) return
        if (!this.#isStruck) this.unexpected.push(`${this.name} ended with ${signal ?? code}`)
        setTimeout(() => this.#isWanted && this.#child === child && this.start(), RESTART_MS)
      }),
    )
  }

  /** What a fault does to it; it is started again if it ends. */
  strike(signal: NodeJS.Signals): void {
    if (signal === 'SIGKILL') this.#isStruck = true
    this.#child?.kill(signal)
  }

  /** It, and whatever else runs on its host, is about to be ended by a fault. */
  expectEnd(): void {
    this.#isStruck = true
  }

  /** Ends it for good, until it is started again. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.#isWanted = false
    this.#child?.kill(signal)
    await this.#exited
  }

  get pid(): number {
    return this.#child!.pid!
  }

  output(): string {
    return fs.readFileSync(`${this.#spec.logDir}/${this.name}`, 'utf8')
  }
}
