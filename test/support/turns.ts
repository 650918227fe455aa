/**
 * What .ci/run leaves to other commits. These files take minutes each, more than an hour together, and a change seldom breaks them; with
 * each commit some of them have their turn, which follows from TEST_SEED. CAMPAIGN=long runs all of them.
 */
import { globSync } from 'node:fs'

/** About as long as each other. */
const TURNS: readonly (readonly string[])[] = [
  [
    'test/orders/kill.test.ts',
    'test/faults/uploads.test.ts',
    'test/python/*.ts',
    'test/peers/stapi*.ts',
    'test/browser/live-style.test.ts',
  ],
  [
    'test/processing/kill.test.ts',
    'test/webhooks/kill.test.ts',
    'test/browser/share.test.ts',
    'test/peers/generators.ts',
    'test/peers/up42.ts',
  ],
  ['test/peers/image.ts', 'test/qgis/plugin.ts', 'test/embedded.test.ts', 'test/gdal/processes.ts', 'test/faults/kill.test.ts'],
  ['test/{backup,examples}.test.ts', 'test/guides/*.test.ts', 'test/exposed/*.test.ts', 'test/peers/open-items.ts', 'tools/org.test.ts'],
]

/** Each takes a browser for a minute or more. */
const JOURNEYS = 'test/browser/console-*.test.ts'
const JOURNEY_TURNS = 20

/** Of the files of this root, those whose turn it is not. */
export function waitingFor(root: string, seed: number): ReadonlySet<string> {
  const journeys = globSync(JOURNEYS, { cwd: root }).toSorted()
  // Whether by mouse or keyboard is the seed's lowest bit: every journey shall be gone in both ways.
  const journeyTurn = Math.floor(seed / 2) % JOURNEY_TURNS
  return new Set([
    ...TURNS.flatMap((patterns, turn) => (turn === seed % TURNS.length ? [] : globSync(patterns, { cwd: root }))),
    ...journeys.filter((_, index) => index % JOURNEY_TURNS !== journeyTurn),
  ])
}

export const turns = TURNS.length * JOURNEY_TURNS
/** For tests of this list. */
export const patternsOfTurns: readonly string[] = [...TURNS.flat(), JOURNEYS]
