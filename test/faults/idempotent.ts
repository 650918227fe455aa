/** Sends every key several times at once, again after each crash, and holds all answers against the first one. */
import { sql } from 'kysely'
import type { Db } from '#db/tables.ts'
import { call } from '../support/client.ts'
import type { Actor, Stage } from './actors.ts'
import { effect } from './operations.ts'

const REPEATS = 3
const REPLAYS_AFTER_A_CRASH = 5

interface IdempotentActor extends Actor {
  /** Sends again what was never answered, and some of what was; the answers must be the first ones, byte for byte. */
  replay(stage: Stage, everything: boolean): Promise<void>
  keys(): number
  effects(db: Db): Promise<{ tokens: number; effects: number }>
}

export function idempotentActor(name: string): IdempotentActor {
  let count = 0
  /** Null until the first answer came. */
  const answers = new Map<string, string | null>()

  const send = async (stage: Stage, token: string): Promise<boolean> => {
    const replies = await Promise.all(
      Array.from({ length: REPEATS }, () =>
        call(stage.baseUrl, stage.key, effect.id, { token }, { 'idempotency-key': `key-${token}` }).catch(() => null),
      ),
    )
    for (const reply of replies) {
      if (!reply || reply.status >= 500) continue
      const first = answers.get(token)
      if (reply.status !== 200) stage.contradictions.push(`key-${token} answered ${reply.status}: ${reply.text}`)
      else if (first === null || first === undefined) answers.set(token, reply.text)
      else if (first !== reply.text) stage.contradictions.push(`key-${token} answered ${reply.text} after ${first}`)
    }
    return replies.every((reply) => reply?.status === 200)
  }

  return {
    async step(stage) {
      const token = `${name}-${++count}`
      answers.set(token, null)
      const done = await send(stage, token)
      if (answers.get(token)) stage.acknowledged.push({ operation: effect.id, invocationId: null })
      return done
    },
    async replay(stage, everything) {
      const open = [...answers].filter(([, answer]) => answer === null).map(([token]) => token)
      const done = [...answers.keys()].filter((token) => answers.get(token) !== null)
      await Promise.all([...open, ...(everything ? done : done.slice(-REPLAYS_AFTER_A_CRASH))].map((token) => send(stage, token)))
    },
    async reconcile(db) {
      const { rows } = await sql<{
        token: string
        n: number
      }>`select token, count(*) as n from test_effect where token like ${`${name}-%`} group by token`.execute(db)
      const effects = new Map(rows.map((row) => [row.token, row.n]))
      const lost = [...answers]
        .filter(([token, answer]) => answer !== null && !effects.has(token))
        .map(([token]) => `the effect of key-${token} is gone`)
      return [...lost, ...rows.filter((row) => row.n > 1).map((row) => `key-${row.token} had ${row.n} effects`)]
    },
    keys: () => answers.size,
    async effects(db) {
      const { rows } = await sql<{
        tokens: number
        effects: number
      }>`select count(distinct token) as tokens, count(*) as effects from test_effect where token like ${`${name}-%`}`.execute(db)
      return rows[0]!
    },
  }
}
