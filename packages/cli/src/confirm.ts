/** Nothing is spent that nobody agreed to. */
import { createInterface } from 'node:readline/promises'
import { priceOf, type Client, type Price } from '../../client/src/core.ts'
import { UsageError } from './failure.ts'
import type { GlobalOptions } from './options.ts'

export const spokenPrice = ({ credits, aud, note }: Price) =>
  [credits === null ? 'The price is not known in advance' : `${credits} credits (A$${aud!.toFixed(2)})`, note].filter(Boolean).join('. ')

/** Asks on a terminal; a script says `--yes`. */
export async function confirmPrice(client: Client, call: { operation: string; input: object }, { yes }: GlobalOptions): Promise<void> {
  if (yes) return
  const price = await priceOf((operation, fields) => client.call(operation, fields, {}, 'read'), call.operation, call.input)
  if (price.credits === 0) return
  const question = `${call.operation} costs ${spokenPrice(price)}.`
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new UsageError(question, 'Nothing was done. Repeat with --yes to spend it.')
  const asked = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await asked.question(`${question} Continue? [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError('Nothing was done.')
  } finally {
    asked.close()
  }
}
