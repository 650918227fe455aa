/** Parses the command line: common options, and the rest for the command. */
import { UsageError } from './failure.ts'

export interface GlobalOptions {
  server?: string
  apiKey?: string
  account?: string
  timeout?: number
  retries?: number
  json: boolean
  ndjson: boolean
  help: boolean
  dryRun: boolean
  yes: boolean
  quiet: boolean
}

/** Name, whether it takes a value, description. */
export const GLOBAL_FLAGS: readonly (readonly [string, boolean, string])[] = [
  ['server', true, 'URL of the service (GROUNDTRACK_URL)'],
  ['api-key', true, 'Authenticate with this key (GROUNDTRACK_API_KEY)'],
  ['account', true, 'Use this saved account (GROUNDTRACK_ACCOUNT)'],
  ['timeout', true, 'Seconds to wait for a response'],
  ['retries', true, 'Retries after network failures (default 3)'],
  ['json', false, 'Print JSON, also on a terminal'],
  ['ndjson', false, 'Print one JSON value per line, with all pages of a list'],
  ['dry-run', false, 'Show the request and its price without sending it'],
  ['yes', false, 'Skip the confirmation before spending credits'],
  ['quiet', false, 'Hide progress and notes on stderr'],
  ['help', false, 'Show help'],
]

/** A flag as typed, with its value if given as `--flag=value`. */
interface Flag {
  name: string
  value: string | null
}

export type Word = Flag | string

const isFlag = (word: string) => /^--?[A-Za-z]/.test(word)

/** Splits words into flags and arguments; after `--` everything is an argument. */
export function wordsOf(args: readonly string[]): Word[] {
  const end = args.indexOf('--')
  const [before, after] = end === -1 ? [args, []] : [args.slice(0, end), args.slice(end + 1)]
  const words = before.map((word): Word => {
    if (!isFlag(word)) return word
    const [, name = '', value] = /^--?([^=]+)(?:=(.*))?$/s.exec(word) ?? []
    return { name: word.startsWith('--') ? name : (SHORT[name] ?? name), value: value ?? null }
  })
  return [...words, ...after]
}

const SHORT: Readonly<Record<string, string>> = { h: 'help', o: 'output', y: 'yes', q: 'quiet' }

/** Extracts the common flags; `rest` keeps the others in order, including those that a command defines itself. */
export function splitGlobal(words: readonly Word[], own: ReadonlySet<string> = new Set()): { options: GlobalOptions; rest: Word[] } {
  const given: Record<string, string | true> = {}
  const rest: Word[] = []
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!
    const known = typeof word === 'string' ? undefined : GLOBAL_FLAGS.find(([name]) => name === word.name && !own.has(name))
    if (!known || typeof word === 'string') {
      rest.push(word)
      continue
    }
    const [name, takesValue] = known
    if (!takesValue) given[name] = true
    else given[name] = word.value ?? valueAfter(words, index++, name)
  }
  return { options: optionsOf(given), rest }
}

export function valueAfter(words: readonly Word[], index: number, name: string): string {
  const next = words[index + 1]
  if (typeof next !== 'string') throw new UsageError(`--${name} needs a value`)
  return next
}

function optionsOf(given: Readonly<Record<string, string | true>>): GlobalOptions {
  const text = (name: string) => (typeof given[name] === 'string' ? given[name] : undefined)
  const timeout = text('timeout')
  if (timeout !== undefined && !(Number(timeout) > 0)) throw new UsageError('--timeout must be a number of seconds')
  const retries = text('retries')
  if (retries !== undefined && !/^\d+$/.test(retries)) throw new UsageError('--retries must be an integer')
  const [server, apiKey, account] = [text('server'), text('api-key'), text('account')]
  return {
    ...(server === undefined ? {} : { server }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(account === undefined ? {} : { account }),
    ...(timeout === undefined ? {} : { timeout: Number(timeout) }),
    ...(retries === undefined ? {} : { retries: Number(retries) }),
    json: given['json'] === true,
    ndjson: given['ndjson'] === true,
    help: given['help'] === true,
    dryRun: given['dry-run'] === true,
    yes: given['yes'] === true,
    quiet: given['quiet'] === true,
  }
}

/** Reads the flags of a common command: values, repeatable values, switches and positional arguments. */
export function readFlags(
  rest: readonly Word[],
  flags: { values?: readonly string[]; lists?: readonly string[]; switches?: readonly string[]; positions?: number },
): { values: Record<string, string>; lists: Record<string, string[]>; switches: Set<string>; positions: string[] } {
  const values: Record<string, string> = {}
  const lists: Record<string, string[]> = {}
  const switches = new Set<string>()
  const positions: string[] = []
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index]!
    if (typeof word === 'string') positions.push(word)
    else if (flags.values?.includes(word.name)) values[word.name] = word.value ?? valueAfter(rest, index++, word.name)
    else if (flags.lists?.includes(word.name)) (lists[word.name] ??= []).push(word.value ?? valueAfter(rest, index++, word.name))
    else if (flags.switches?.includes(word.name)) switches.add(word.name)
    else
      throw new UsageError(
        `--${word.name} is not an option here`,
        knownFlags([...(flags.values ?? []), ...(flags.lists ?? []), ...(flags.switches ?? [])]),
      )
  }
  if (flags.positions !== undefined && positions.length > flags.positions)
    throw new UsageError(`Unexpected argument '${positions[flags.positions]}'`)
  return { values, lists, switches, positions }
}

const knownFlags = (names: readonly string[]) => (names.length > 0 ? `Options: ${names.map((name) => `--${name}`).join(' ')}` : null)

/** A command: takes its arguments and returns its exit code, default 0. */
export type Run = (rest: readonly Word[], options: GlobalOptions) => Promise<number | void>
