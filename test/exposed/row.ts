/** One attack of docs/threats.md against a service that was started as the guide says. A file in rows/ is found by being there. */
import type { ExposedService } from '../support/exposed.ts'

interface Exposed {
  service: ExposedService
  /** The settings of the guide. */
  env: Readonly<Record<string, string>>
  /** A session and a key of the demo, from when the same data was local. */
  demo: { token: string; key: string }
}

export interface ExposedRow {
  /** Of docs/threats.md. */
  readonly row: number
  /** Throws when the defence does not hold. */
  attempt(exposed: Exposed): Promise<void>
}
