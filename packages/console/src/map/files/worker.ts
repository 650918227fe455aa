/** Reads one file off the main thread. The page ends the worker if that takes too long. */
import { FileProblem } from './limits.ts'
import { readFile, type FileContent } from './read-file.ts'

export type Answer = { content: FileContent } | { problem: string }

onmessage = async ({ data }: MessageEvent<ArrayBuffer>) => {
  let answer: Answer
  try {
    answer = { content: await readFile(new Uint8Array(data)) }
  } catch (error) {
    answer = { problem: error instanceof FileProblem ? error.message : 'The file could not be read.' }
  }
  postMessage(answer)
}
