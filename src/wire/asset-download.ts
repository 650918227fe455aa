import Type from 'typebox'
import { Closed, Described, Nullable, Uuid } from '#core/shapes.ts'

/** A signed download URL of one file. */
export const AssetDownload = Closed(
  {
    url: Type.String({ description: 'Download URL' }),
    expires_in_seconds: Type.Integer({ description: 'Seconds until the URL expires' }),
    asset_id: Described(Uuid, 'Asset ID'),
    size_bytes: Described(Nullable(Type.Integer()), 'File size in bytes; null if unknown'),
    media_type: Described(Nullable(Type.String()), 'Media type of the file; null if unknown'),
  },
  { $id: 'AssetDownload', description: 'A signed download URL of a file' },
)
