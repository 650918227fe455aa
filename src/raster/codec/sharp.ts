import sharp from 'sharp'

/**
 * The image library, set up once for all who decode or encode with it: blocks are small and seldom
 * seen twice, so its cache only holds memory, and its threads only compete with our own processes.
 */
sharp.cache(false)
sharp.concurrency(1)

export { sharp }
