/** `groundtrack`: runs a command, and turns failures into a message and an exit code. */
import path from 'node:path'
import { nearest } from '../../../src/core/nearest.ts'
import { command, findCommand, commandName, summaries } from './catalogue.ts'
import { flagsOf } from './fields.ts'
import { describe, EXIT, UsageError } from './failure.ts'
import { splitGlobal, wordsOf, type GlobalOptions, type Word } from './options.ts'
import { PACKAGE_FOLDER } from './package-folder.ts'
import { COMMANDS } from './commands.ts'
import { paint, print } from './terminal.ts'

export async function main(args: readonly string[]): Promise<number> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0) // The reader, such as `| head`, has closed the pipe.
    throw error
  })
  try {
    if (args[0] === '__complete') return await (await import('./complete.ts')).complete(args.slice(1))
    return (await dispatch(wordsOf(args))) ?? EXIT.ok
  } catch (error) {
    const { message, code } = describe(error)
    process.stderr.write(`${paint('red', 'error:', process.stderr)} ${message}\n`)
    return code
  }
}

async function dispatch(words: readonly Word[]): Promise<number | void> {
  const { options, rest } = splitGlobal(words)
  const names = rest.filter((word): word is string => typeof word === 'string')
  const [first] = names
  if (rest.some((word) => typeof word !== 'string' && word.name === 'version') && first === undefined) return await version()
  if (first === undefined) return await help(null, options)
  const all = summaries()
  const match = findCommand(names, new Set(Object.keys(all)))
  // `jobs watch` is a common command; `share link create` is an operation.
  if (!match && first in COMMANDS) return await runCommand(first, rest, options)
  if (!match) return await help(names, options)
  if (options.help) return await print((await import('./help.ts')).operationHelp(match.id))
  // Where a field of the operation has the name of a common option, the flag sets the field.
  const fields = new Set(flagsOf(command(match.id)).map(({ flag }) => flag))
  const split = splitGlobal(words, fields)
  let left = match.count
  const own = split.rest.filter((word) => typeof word !== 'string' || left-- <= 0)
  const { invoke } = await import('./invoke.ts')
  return await invoke(match.id, own, split.options)
}

async function runCommand(name: string, rest: readonly Word[], options: GlobalOptions): Promise<number | void> {
  if (options.help) return await print((await import('./help.ts')).commandHelp(name))
  const run = await COMMANDS[name]!.load()
  return await run(rest.slice(rest.indexOf(name) + 1), options)
}

async function help(names: readonly string[] | null, options: GlobalOptions): Promise<number | void> {
  const { help: isRequested } = options
  if (names?.[0] === 'help' && names.length > 1) return await dispatch([...names.slice(1), { name: 'help', value: null }])
  const { domainHelp, topHelp } = await import('./help.ts')
  if (names === null || names[0] === 'help') {
    await print(topHelp())
    return EXIT.ok
  }
  const prefix = names.join('.').replaceAll('-', '_')
  const text = domainHelp(prefix)
  if (text === null)
    throw new UsageError(`Unknown command '${names.join(' ')}'${suggestion(names)}`, 'groundtrack --help lists all commands')
  await print(text)
  return isRequested ? EXIT.ok : EXIT.usage
}

function suggestion(names: readonly string[]): string {
  const known = [...Object.keys(COMMANDS), ...Object.keys(summaries()).map(commandName)]
  const near = nearest(names.join(' '), known)
  return near === null ? '' : `; did you mean '${near}'?`
}

async function version(): Promise<number> {
  const { readFileSync } = await import('node:fs')
  const { version: current } = JSON.parse(readFileSync(path.join(PACKAGE_FOLDER, 'package.json'), 'utf8')) as { version: string }
  await print(`groundtrack ${current}\n`)
  return EXIT.ok
}
