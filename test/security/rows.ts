/** The rows of every domain: what the security tests must know of an operation. A file in rows/ is found by being there. */
import { globSync } from 'node:fs'
import path from 'node:path'
import type { Org, World } from '../support/world.ts'

interface Row {
  /** Makes something in the organization that the call is about, and says what to send. */
  input(w: World, org: Org): Promise<object> | object
  /** The same call about something that does not exist; absent where the operation takes no id. */
  missing?(input: object): object
  /** The status that each principal gets about a thing of organization A, in the order of PRINCIPALS. */
  a: string
  /** The same about a thing of organization B; stands where `missing` stands. */
  b?: string
  /**
   * A table or column without which the call fails inside the operation, after everything before it went well. Null: it
   * reads pixels and constants only, so there is no ground to break; its failures are in the tests beside it.
   */
  breaks: `table ${string}` | `column ${string}.${string}` | null
}

export type Rows = Record<string, Row>

const FOLDER = path.join(import.meta.dirname, 'rows')

/** By the name of the domain, which is the name of its file. */
export const rowsOfDomains: ReadonlyMap<string, Rows> = new Map(
  await Promise.all(
    globSync('*.ts', { cwd: FOLDER })
      .toSorted()
      .map(async (file) => {
        const { rows } = (await import(path.join(FOLDER, file))) as { rows: Rows }
        return [path.basename(file, '.ts'), rows] as const
      }),
  ),
)

export const rows: ReadonlyMap<string, Row> = new Map([...rowsOfDomains.values()].flatMap((ofDomain) => Object.entries(ofDomain)))
