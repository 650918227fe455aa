/** Reads a file of areas or other shapes in a worker, so that a large or hostile one neither stops the page nor outlives its time. */
import { FileProblem, MAX_FILE_BYTES } from './limits.ts'
import type { FileContent, Wanted } from './read-file.ts'
import type { Answer, Question } from './worker.ts'

const MAX_MS = 20_000

export async function openFile(file: File, wanted: Wanted = 'areas'): Promise<FileContent> {
  if (file.size > MAX_FILE_BYTES)
    throw new FileProblem(`The file is larger than ${MAX_FILE_BYTES / 1024 / 1024} MB. Export a smaller area.`)
  const bytes = await file.arrayBuffer()
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' })
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    const answer = await new Promise<Answer>((resolve) => {
      timer = setTimeout(() => resolve({ problem: 'The file took too long to read. Export a smaller area.' }), MAX_MS)
      worker.onmessage = ({ data }: MessageEvent<Answer>) => resolve(data)
      worker.onerror = () => resolve({ problem: 'The file could not be read.' })
      const question: Question = { bytes, wanted }
      worker.postMessage(question, [bytes])
    })
    if ('problem' in answer) throw new FileProblem(answer.problem)
    return answer.content
  } finally {
    clearTimeout(timer)
    worker.terminate()
  }
}
