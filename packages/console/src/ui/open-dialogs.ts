/** Open modal dialogs, the topmost last. Everything outside the topmost one is inert, so messages are shown inside it. */
import { createStore } from '../store.ts'

export const openDialogs = createStore<readonly HTMLDialogElement[]>([])
