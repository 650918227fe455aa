/** What the browser's video encoder made of the frames. Every frame is a key frame, so that a viewer can go to any date. */
export interface VideoTrack {
  /** As WebCodecs names it, for example `avc1.640028` or `vp09.00.40.08`. */
  codec: string
  width: number
  height: number
  /** How long each frame is shown. */
  frameMs: number
  frames: readonly Uint8Array[]
  /** The configuration of the decoder; only H.264 has one. */
  description: Uint8Array | null
}
