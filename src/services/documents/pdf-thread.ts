/** The program of the thread that draws PDFs. It is not imported by anything; `printer.ts` starts it. */
import { parentPort } from 'node:worker_threads'
import { invoicePdf } from './invoice-pdf.ts'
import { reportPdf } from './report-pdf.ts'

type Order = { kind: 'report'; document: Parameters<typeof reportPdf>[0] } | { kind: 'invoice'; document: Parameters<typeof invoicePdf>[0] }

parentPort!.on('message', (order: Order) => {
  const drawn = order.kind === 'report' ? reportPdf(order.document) : invoicePdf(order.document)
  drawn.then(
    (bytes) => {
      const own = new Uint8Array(bytes) // A buffer of its own: it is handed over, not copied.
      parentPort!.postMessage({ bytes: own }, [own.buffer])
    },
    (error: unknown) => parentPort!.postMessage({ failure: String(error) }),
  )
})
