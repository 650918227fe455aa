/** Authenticator apps of people in tests. */
import assert from 'node:assert/strict'
import { codeAt, stepAt } from '#core/totp.ts'
import type { Person, World } from './world.ts'

/** What the app shows now. */
export const codeOf = (w: Pick<World, 'clock'>, secret: string): string => codeAt(secret, stepAt(w.clock.now()))

/** Adds an authenticator app; the clock moves on, so that the next code is another one. */
export async function addApp(w: World, who: Person): Promise<{ secret: string; recoveryCodes: string[] }> {
  const headers = { authorization: `Bearer ${who.token}` }
  const { body: started } = await w.post('/auth/two-factors/authenticator/start', { password: who.password }, headers)
  const { status, body } = await w.post('/auth/two-factors/authenticator/confirm', { code: codeOf(w, started.secret) }, headers)
  assert.equal(status, 200, JSON.stringify(body))
  w.clock.advance({ seconds: 30 })
  return { secret: started.secret, recoveryCodes: body.recovery_codes }
}
