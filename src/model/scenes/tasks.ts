/** Tasks of saved searches; their handlers are in `domains/saved_searches`. */
import { Closed, Uuid } from '#core/shapes.ts'
import { taskContract } from '#effects.ts'

export const addScenesTask = taskContract('saved_searches.add_scenes', Closed({ saved_search_id: Uuid }))
