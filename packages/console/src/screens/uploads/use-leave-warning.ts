import { useEffect } from 'react'
import { isUploading } from './upload-queue.ts'

/** The browser asks before the tab is closed while files are being uploaded: that would interrupt them. */
export function useLeaveWarning(): void {
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (isUploading()) event.preventDefault()
    }
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [])
}
