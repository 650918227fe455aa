/** IDs that all examples of the reference share, so that they refer to the same data. */
export const EXAMPLE_IDS = {
  asset: '0199f2c6-2222-7abc-8def-0123456789ab',
  collection: '0199f2c5-3333-7abc-8def-0123456789ab',
  item: '0199f2c6-1111-7abc-8def-0123456789ab',
  organization: '0199f2c4-1d00-7c11-8e21-6a1f4b7c9d02',
  otherUser: '0199f2c3-bb20-7e66-a1da-4a3f2e1d0c9b',
  project: '0199f2c4-5c1a-7b3e-9a44-0d6f3c1b2a10',
  user: '0199f2c3-aa10-7d55-b0c9-3f2e1d0c9b8a',
} as const

export const EXAMPLE_AT = '2026-03-01T09:30:00.000Z'
