/** Deterministic scenes of a fictional Earth, for the demo and the sandbox vendors. */
export { acquisitionOf, acquisitionsFor, scenesFor, type PlanPlace, type SceneQuery } from './acquisitions.ts'
export { describeScene, type SceneDescription, type SceneRequest } from './describe.ts'
export { coarseCopy, cropOf, windowOf, type Window } from './part.ts'
export { cogSpecOf, renderSamples, renderScene } from './render.ts'
export { CLASSIFICATION } from './pixels.ts'
export { SENSOR_IDS, type SensorId } from './sensors.ts'
