import type { DeliveredFile } from '#ports/vendors/shop.ts'

/** The digests in a multihash of STAC's file extension: the code of the algorithm, the length, and the digest. */
export function checksumsOf(checksum: string | null | undefined): Pick<DeliveredFile, 'sha256' | 'md5'> {
  const [, algorithm, digest] = /^(1220|d50110)([0-9a-f]+)$/.exec(checksum?.toLowerCase() ?? '') ?? []
  return {
    sha256: algorithm === '1220' && digest?.length === 64 ? digest : null,
    md5: algorithm === 'd50110' && digest?.length === 32 ? digest : null,
  }
}
