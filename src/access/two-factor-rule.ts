/** The rule of an organization that its members have two factors. */
import { problem, type Problem } from '#core/problem.ts'
import type { Db } from '#db/tables.ts'
import * as secondFactors from '#model/identity/second-factor.ts'

export const twoFactorsRequired = (): Problem =>
  problem('two-factors-required', 'An organization of this account requires two-factor sign-in; set it up first')

/** For what the account's own routes change in an organization. */
export async function requireRuleMet(db: Db, userId: string): Promise<void> {
  if ((await secondFactors.requiredBy(db, userId)).length === 0) return
  if (!secondFactors.isOn(await secondFactors.standingOf(db, userId))) throw twoFactorsRequired()
}
