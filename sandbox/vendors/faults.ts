/** The failures that `sandbox-flaky` simulates, by scene name. */
const FAULTS = ['fail-502', 'timeout', 'lies', 'fail-order', 'fail-part', 'half'] as const

type Fault = (typeof FAULTS)[number]

/** A scene whose name starts with a fault has it: `fail-part`, or `fail-part-2` for another one. */
export const faultOf = (sceneId: string): Fault | null =>
  FAULTS.find((fault) => sceneId === fault || sceneId.startsWith(`${fault}-`)) ?? null
