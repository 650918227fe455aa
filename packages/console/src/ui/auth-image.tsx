/** A picture of the service that needs the caller's token: asked for when it comes into view, kept for a while. */
import { useEffect, useRef, useState, type ReactElement } from 'react'
import { freshToken, onSessionEnd } from '../api/session.ts'
import { classes } from './classes.ts'
import { createPictures } from './pictures.ts'
import styles from './auth-image.module.css'

const pictures = createPictures({
  async fetch(path, signal) {
    const token = await freshToken()
    const response = await fetch(path, { headers: token ? { authorization: `Bearer ${token}` } : {}, signal })
    if (!response.ok) throw new Error(`HTTP ${response.status}`)
    return await response.blob()
  },
  show: (picture) => URL.createObjectURL(picture),
  revoke: (address) => URL.revokeObjectURL(address),
})
onSessionEnd(pictures.forget)

/** An address that an image element or the map can show. */
export const pictureOf = pictures.get

export function AuthImage({ path, alt }: { path: string | null; alt: string }): ReactElement {
  const [url, setUrl] = useState(path ? pictures.known(path) : null)
  const [isWaiting, setWaiting] = useState(path !== null && url === null)
  const place = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    const known = path ? pictures.known(path) : null
    setUrl(known)
    setWaiting(path !== null && known === null)
    if (!path) return
    const stopped = new AbortController()
    const watcher = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return
      watcher.disconnect()
      pictureOf(path, stopped.signal)
        .then((address) => {
          if (!stopped.signal.aborted) setUrl(address)
        })
        .catch(() => undefined)
        .finally(() => {
          if (!stopped.signal.aborted) setWaiting(false)
        })
    })
    watcher.observe(place.current!)
    return () => {
      stopped.abort()
      watcher.disconnect()
    }
  }, [path])
  return (
    <span ref={place} className={classes(styles.picture, isWaiting && styles.waiting)} data-waiting={isWaiting || undefined}>
      {url && <img src={url} alt={alt} draggable={false} />}
    </span>
  )
}

export { tileOf } from './tile-path.ts'
