/** Reads one file off the main thread. The page ends the worker if that takes too long. */
import { FileProblem } from './limits.ts'
import { readFile, type FileContent, type Wanted } from './read-file.ts'

export interface Question {
  bytes: ArrayBuffer
  wanted: Wanted
}
export type Answer = { content: FileContent } | { problem: string }

onmessage = async ({ data }: MessageEvent<Question>) => {
  let answer: Answer
  try {
    answer = { content: await readFile(new Uint8Array(data.bytes), data.wanted) }
  } catch (error) {
    answer = { problem: error instanceof FileProblem ? error.message : 'The file could not be read.' }
  }
  postMessage(answer)
}
