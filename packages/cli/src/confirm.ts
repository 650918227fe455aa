/** Asks before a command spends credits. */
import { createInterface } from 'node:readline/promises'
import { priceOf, type Client, type Price } from '../../client/src/core.ts'
import { UsageError } from './failure.ts'
import type { GlobalOptions } from './options.ts'

export const formatPrice = ({ credits, aud, note }: Price) =>
  [credits === null ? 'an amount that is not known in advance' : `${credits} credits (A$${aud!.toFixed(2)})`, note]
    .filter(Boolean)
    .join('. ')

/** Prompts on a terminal; scripts pass `--yes`. */
export async function confirmPrice(client: Client, call: { operation: string; input: object }, { yes }: GlobalOptions): Promise<void> {
  if (yes) return
  const price = await priceOf((operation, fields) => client.call(operation, fields, {}, 'read'), call.operation, call.input)
  if (price.credits === 0) return
  const question = `This costs ${formatPrice(price)}.`
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new UsageError(question, 'Nothing was charged. Run the command again with --yes to confirm.')
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await prompt.question(`${question} Continue? [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError('Cancelled; nothing was charged.')
  } finally {
    prompt.close()
  }
}
