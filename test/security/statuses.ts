/**
 * Statuses that several operations share, one for each principal in the order of PRINCIPALS:
 *   none garbage revoked expired | owner admin member clip | foreign loner | read write process | worker service service-of-A staff
 */
import { PRINCIPALS } from './cast.ts'

export const NOBODY = '401 401 401 401'

export const CHANGES_A_PROJECT = {
  a: `${NOBODY} | 200 200 403 403 | 404 404 | 403 200 403 | 403 200 200 404`,
  b: `${NOBODY} | 404 404 404 404 | 200 404 | 403 404 403 | 403 200 404 404`,
}
export const READS_A_PROJECT = {
  a: `${NOBODY} | 200 200 200 200 | 404 404 | 200 200 200 | 403 200 200 404`,
  b: `${NOBODY} | 404 404 404 404 | 200 404 | 404 404 404 | 403 200 404 404`,
}
/** Whoever may read the item is told that its file lies on a host that is not an allowed one. */
export const READS_PIXELS = { a: allowedBut422(READS_A_PROJECT.a), b: allowedBut422(READS_A_PROJECT.b) }

/** Authentication and the scope are the only gates. */
export const ANYBODY = { a: `${NOBODY} | 200 200 200 200 | 200 200 | 200 200 200 | 403 200 200 200` }
/** Whoever passes them is then told that the host is not an allowed one. */
export const ANY_URL = { a: allowedBut422(ANYBODY.a) }
/** The token of a link and its password are the credential, so every principal is the same visitor. */
export const VISITORS = { a: PRINCIPALS.map(() => 200).join(' ') }

/** What the organization itself owns, without an id to name: whoever acts for it reads it. */
export const READS_OWN = { a: `${NOBODY} | 200 200 200 200 | 200 403 | 200 200 200 | 403 403 200 403` }
/** What the organization itself owns, named by its id. */
export const READS_NAMED_ORGANIZATION = {
  a: `${NOBODY} | 200 200 200 200 | 403 403 | 200 200 200 | 403 403 200 403`,
  b: `${NOBODY} | 403 403 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
}
/** Money is the owner's, the admins' and the billing admin's. */
export const CHANGES_MONEY = { a: `${NOBODY} | 200 200 403 403 | 200 403 | 403 200 403 | 403 403 200 403` }
/** The same about a single thing that costs or pays. */
export const CHANGES_A_CARD = {
  a: `${NOBODY} | 200 200 403 403 | 404 403 | 403 200 403 | 403 403 200 403`,
  b: `${NOBODY} | 404 404 403 403 | 200 403 | 403 404 403 | 403 403 404 403`,
}
/** Operations for those who run the platform. */
export const OPERATORS = { a: `${NOBODY} | 403 403 403 403 | 403 403 | 403 403 403 | 403 200 200 200` }
/** The same about an organization that they name: to them no organization is another one. */
export const OPERATORS_ANYWHERE = { a: OPERATORS.a, b: OPERATORS.a }

/** Whoever may ask is told that there is no such thing: it is the same thing, or none, to everybody. */
export const FINDS_NOTHING = { a: ANYBODY.a.replaceAll('200', '404') }

export function allowedBut422(row: string): string {
  return row.replaceAll('200', '422')
}

export function statusesOf(row: string): number[] {
  return row.replaceAll('|', ' ').trim().split(/\s+/).map(Number)
}
