/** Handlers for rasters in local files: what a pool loads where nothing else is configured. */
import { openFileSource } from '#raster/source/file.ts'
import { openTiff } from '#raster/tiff/open.ts'

import { createHandlers } from './handlers.ts'

export const handlers = createHandlers({
  open: async (path: string, signal) => openTiff(await openFileSource(path), { signal }),
})
