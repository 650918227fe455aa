import { createStore } from '../../../store.ts'

/** Whether a frame of the timelapse is on the map, in place of the item. */
export const frameShown = createStore(false)
