/** Signs tile URLs for clients that cannot send headers, and verifies them. Who made one is looked up again at every use. */
import type { Clock } from '#core/clock.ts'
import type { Principal } from '#core/principal.ts'
import { accessDenied } from '#core/problem.ts'
import { readSignature, textToSign, writeSignature, type TileSignature } from '#core/tile-signature.ts'
import type { TileSigner } from '#context.ts'
import type { Tokens } from './tokens.ts'

export interface TileSignatures extends TileSigner {
  /** Null unless it is ours, for this target, and valid now. */
  verify(text: string, target: string): Promise<TileSignature | null>
}

export function createTileSignatures(clock: Clock, tokens: Tokens): TileSignatures {
  return {
    async sign({ kind, id, organizationId }: Principal, target, lifetimeSeconds) {
      if (kind !== 'user' && kind !== 'api_key') throw accessDenied()
      const keyId = await tokens.newestKey()
      const expiresAtSeconds = Math.floor(clock.now().getTime() / 1000) + lifetimeSeconds
      const signature: TileSignature = { kind, id, organizationId, keyId, expiresAtSeconds }
      return writeSignature(signature, (await tokens.mac(keyId, textToSign(signature, target)))!)
    },
    async verify(text, target) {
      const read = readSignature(text)
      if (!read || read.signature.expiresAtSeconds * 1000 <= clock.now().getTime()) return null
      const mac = await tokens.mac(read.signature.keyId, textToSign(read.signature, target))
      return mac && read.matches(mac) ? read.signature : null
    },
  }
}
