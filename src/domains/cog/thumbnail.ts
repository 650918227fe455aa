import Type from 'typebox'
import { Closed, Defaulted, Described } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { IMAGE_TYPES, imageReply } from '#wire/tile.ts'
import { CogUrl, FOREVER, withoutQuery } from './wire.ts'

const Side = Defaulted(Type.Integer({ minimum: 1, maximum: 2_048 }), 256)

/** A small JPEG of the whole image that fits the given size; data other than 8-bit is stretched from the 2nd to the 98th percentile. */
export default operation({
  id: 'cog.thumbnail',
  scope: 'tiles:read',
  tier: 'read',
  raw: 'bytes',
  mediaTypes: IMAGE_TYPES,
  input: Closed({ url: CogUrl, width: Described(Side, 'Image width in pixels'), height: Described(Side, 'Image height in pixels') }),
  output: Type.Any(),
  example: { input: { url: 'https://data.example/scene.tif' } },
}).handle({
  auditSubject: ({ url }) => withoutQuery(url),
  async execute({ raster, ifNoneMatch, signal }, { url, width, height }) {
    return imageReply(await raster.thumbnail({ url }, { width, height }, { ifNoneMatch, signal }), FOREVER)
  },
})
