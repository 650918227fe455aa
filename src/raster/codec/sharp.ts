import sharp from 'sharp'

/**
 * Configures the image library once for all codecs: blocks are small and rarely decoded twice, so its
 * cache only uses memory, and its threads only compete with our own processes.
 */
sharp.cache(false)
sharp.concurrency(1)

export { sharp }
