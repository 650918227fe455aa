/** Answers the completion scripts of the shells. */
import { command, commandName, extraFlags, findCommand, summaries } from './catalogue.ts'
import { COMMANDS } from './commands.ts'
import { EXIT } from './failure.ts'
import { flagsOf } from './fields.ts'
import { GLOBAL_FLAGS } from './options.ts'
import { print } from './terminal.ts'

/** Prints the completions of the last word, one per line with its description. */
export async function complete(words: readonly string[]): Promise<number> {
  const completions = candidates(
    words.slice(0, -1).filter((word) => !word.startsWith('-')),
    words.at(-1) ?? '',
  )
  await print(completions.map(([name, about]) => `${name}\t${about}\n`).join(''))
  return EXIT.ok
}

function candidates(before: readonly string[], word: string): (readonly [string, string])[] {
  const all = summaries()
  const match = findCommand(before, new Set(Object.keys(all)))
  const fits = ([name]: readonly [string, string]) => name.startsWith(word)
  if (match || (before[0] !== undefined && before[0] in COMMANDS && word.startsWith('-')))
    return flags(match?.id ?? null, before[0]!).filter(fits)
  const depth = before.length
  const next = new Map<string, string>()
  for (const [id, summary] of Object.entries(all)) {
    const parts = commandName(id).split(' ')
    if (parts.length <= depth || before.some((part, index) => parts[index] !== part)) continue
    const isLast = parts.length === depth + 1
    next.set(parts[depth]!, isLast ? summary : (next.get(parts[depth]!) ?? 'operations'))
  }
  if (depth === 0) for (const [name, { about }] of Object.entries(COMMANDS)) next.set(name, about)
  return [...next].filter(fits)
}

function flags(id: string | null, name: string): (readonly [string, string])[] {
  const own =
    id === null
      ? COMMANDS[name]!.options.flatMap(([flag, about]) => [...flag.matchAll(/--[\w-]+/g)].map(([text]) => [text, about] as const))
      : [
          ...flagsOf(command(id)).map(({ flag, field }) => [`--${flag}`, field.description ?? ''] as const),
          ...extraFlags(command(id)).map(([flag, about]) => [flag.split(' ')[0]!, about] as const),
        ]
  return [...own, ...GLOBAL_FLAGS.map(([flag, , about]) => [`--${flag}`, about] as const)]
}
