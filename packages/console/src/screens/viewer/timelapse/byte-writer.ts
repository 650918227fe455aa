/** Bytes that grow as a file is written. Numbers are little-endian unless their name says otherwise. */
export class ByteWriter {
  #bytes = new Uint8Array(1 << 16)
  #length = 0

  get length(): number {
    return this.#length
  }

  #room(count: number): number {
    const at = this.#length
    this.#length += count
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#length, this.#bytes.length * 2))
      larger.set(this.#bytes.subarray(0, at))
      this.#bytes = larger
    }
    return at
  }

  byte(value: number): void {
    const at = this.#room(1) // Before the array is read, which it may replace.
    this.#bytes[at] = value
  }

  bytes(values: ArrayLike<number>): void {
    const at = this.#room(values.length)
    this.#bytes.set(values, at)
  }

  text(latin: string): void {
    this.bytes(Array.from(latin, (letter) => letter.charCodeAt(0)))
  }

  /** Of 1 to 6 bytes. */
  number(value: number, size: number): void {
    for (let n = 0; n < size; n++) this.byte(Math.floor(value / 2 ** (8 * n)) & 255)
  }

  bigEndian(value: number, size: number): void {
    for (let n = size - 1; n >= 0; n--) this.byte(Math.floor(value / 2 ** (8 * n)) & 255)
  }

  /** A copy, which later writing does not change. */
  take(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length)
  }
}
