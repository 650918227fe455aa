/** Operations that no catalogue lists, to watch the pipeline do what none of the real ones needs yet. */
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import type { Db } from '#db/tables.ts'
import { operation, type AnyOperation } from '#operation.ts'

/** Where effects are counted. Nothing in it is unique: a second effect shows as a second row. */
export async function createEffects(db: Db): Promise<void> {
  await sql`create table if not exists test_effect (token text not null, invocation_id uuid not null)`.execute(db)
}

/** An idempotent write whose answer cannot come out the same twice by accident. */
export const effect: AnyOperation = operation({
  id: 'faults.effect',
  scope: 'projects:write',
  tier: 'compute',
  idempotent: true,
  input: Closed({ token: Type.String() }),
  output: Closed({ token: Type.String(), chance: Type.String() }),
  example: { input: { token: 'a' }, output: { token: 'a', chance: 'b' } },
}).handle({
  async execute({ tx, invocationId }, { token }) {
    await sql`insert into test_effect (token, invocation_id) values (${token}, ${invocationId})`.execute(tx)
    return { token, chance: randomBytes(16).toString('hex') }
  },
})

/** A write that waits inside its transaction until whoever holds the advisory lock lets go. */
const wait: AnyOperation = operation({
  id: 'faults.wait',
  scope: 'projects:write',
  tier: 'compute',
  input: Closed({ lock: Type.Integer(), token: Type.String() }),
  output: Closed({ token: Type.String() }),
  example: { input: { lock: 1, token: 'a' }, output: { token: 'a' } },
}).handle({
  async execute({ tx, invocationId }, { lock, token }) {
    await sql`select pg_advisory_xact_lock(${lock})`.execute(tx)
    await sql`insert into test_effect (token, invocation_id) values (${token}, ${invocationId})`.execute(tx)
    return { token }
  },
})

/** A read that is audited like a tile: together with others of its minute. */
const picture: AnyOperation = operation({
  id: 'faults.picture',
  scope: 'projects:read',
  tier: 'read',
  raw: 'bytes',
  input: Closed({ of: Type.String() }),
  output: Type.Any(),
  example: { input: { of: 'a' } },
}).handle({
  auditSubject: ({ of }) => of,
  execute: async () => ({ contentType: 'image/png', body: Buffer.from('pixels') }),
})

export const testOperations = [effect, wait, picture] as const
