/** Tasks about hosts of imagery; their handlers are in `domains/catalog`. */
import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { taskContract } from '#effects.ts'

/** At a start, hosts are probed that are not due yet. */
export const probeSourcesTask = taskContract('catalog.probe_sources', Closed({ at_start: Type.Optional(Type.Boolean()) }))
