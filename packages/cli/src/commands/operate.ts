import { UsageError } from '../failure.ts'
import type { Run, Word } from '../options.ts'
import { runInRepository } from './up.ts'

/** Commands of operators run the tool of the same name in the repository of the service, with the environment as its settings. */
const tool =
  (name: string): Run =>
  async (rest) =>
    await runInRepository(`tools/${name}.ts`, rest.map(textOf))

function textOf(word: Word): string {
  if (typeof word === 'string') return word
  if (word.name === '') throw new UsageError('An option has no name')
  return word.value === null ? `--${word.name}` : `--${word.name}=${word.value}`
}

export const migrate = tool('migrate')
export const config = tool('config')
export const keys = tool('keys')
export const backup = tool('backup')
export const verify = tool('verify')
export const restore = tool('restore')
export const store = tool('store')
export const org = tool('org')
