/** Share links: creating one, which is shown once, and the active ones. */
import { Link } from '@tanstack/react-router'
import { useState, type FormEvent, type ReactElement } from 'react'
import type { ShareLink } from '../api/contract.ts'
import { useAct, useOp } from '../api/query.ts'
import { profileOf, type Style } from '../state/style.ts'
import { Dialog } from '../ui/dialog.tsx'
import { ago, date, plural } from '../ui/format.ts'
import { Icon } from '../ui/icons.tsx'
import { Button, Choice, CopyButton, Field, Note, Segmented } from '../ui/kit.ts'
import { FormProblem } from '../ui/states.tsx'
import { classes } from '../ui/classes.ts'
import { QrCode } from '../ui/qr-code.tsx'
import styles from './share-dialog.module.css'
import fieldStyles from '../ui/field.module.css'
import secretStyles from '../ui/secret.module.css'
import ui from '../ui/ui.module.css'

const DAY_MS = 86_400_000
const EXPIRY_DAYS = [1, 7, 30, 90, 365]
const PERMISSIONS = [
  { value: 'view', text: 'View' },
  { value: 'download', text: 'View and download' },
] as const
const ACCESSES = [
  { value: 'password', text: 'With the password' },
  { value: 'public', text: 'Anyone with the link' },
] as const
const WORDS =
  'coral sand tide reef dune mesa fern moss lake delta ridge grove amber slate cedar linen maple river stone cloud field ocean'.split(' ')

/** Four words and a number, by the browser's own randomness: easy to say on the phone. */
function newPassword(): string {
  const picks = crypto.getRandomValues(new Uint32Array(5))
  return [...[...picks].slice(0, 4).map((pick) => WORDS[pick % WORDS.length]), String((picks[4]! % 90) + 10)].join('-')
}

interface ShareParts {
  type: 'item' | 'collection' | 'map'
  id: string
  name: string
  mayWrite: boolean
  /** The style that the link opens in; null or absent for the default. */
  shownStyle?: ShownStyle | null
  onClose(): void
}

interface ShownStyle {
  style: Style
  assetKey: string | null
}

export function ShareDialog({ type, id, name, mayWrite, shownStyle = null, onClose }: ShareParts): ReactElement {
  const links = useOp('share.links.list', { target_type: type, target_id: id })
  const active = (links.data?.share_links ?? []).filter(
    ({ revoked_at, expires_at }) => revoked_at === null && Date.parse(expires_at) > Date.now(),
  )
  return (
    <Dialog title={`Share “${name}”`} onClose={onClose}>
      <div className={classes(ui.flexColumn, ui.gap16)}>
        {mayWrite && <NewLink type={type} id={id} name={name} shownStyle={shownStyle} />}
        <div>
          <div className={classes(ui.flexRow, ui.between)}>
            <b>Links to this {type}</b>
            <span className={classes(ui.soft, ui.small)}>{active.length} active</span>
          </div>
          {active.map((link) => (
            <ShareRow key={link.id} link={link} mayWrite={mayWrite} />
          ))}
          {active.length === 0 && <p className={ui.soft}>No active links.</p>}
        </div>
      </div>
    </Dialog>
  )
}

function NewLink({
  type,
  id,
  name,
  shownStyle,
}: Pick<ShareParts, 'type' | 'id' | 'name'> & { shownStyle: ShownStyle | null }): ReactElement {
  const [permission, setPermission] = useState<ShareLink['permission']>('view')
  const organization = useOp('organizations.get', {}, { staleTime: 60_000 })
  const mayBePublic = organization.data?.allows_public_links === true
  const [access, setAccess] = useState<(typeof ACCESSES)[number]['value']>('password')
  const isPublic = mayBePublic && access === 'public'
  const [password, setPassword] = useState(newPassword)
  const [days, setDays] = useState('30')
  const [profileId, setProfileId] = useState<string | null>(shownStyle?.style.id ?? null)
  const save = useAct('visualization.profile.create', ['visualization', 'items.tile'])
  const create = useAct('share.link.create', ['share'])
  const isUnsaved = shownStyle !== null && profileId === null
  const createLink = () => {
    const expires_at = new Date(Date.now() + Number(days) * DAY_MS).toISOString()
    create.mutate({ target_type: type, target_id: id, permission, expires_at, ...(isPublic ? { is_public: true } : { password }) })
  }
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (!isUnsaved) return createLink()
    const saved = profileOf(shownStyle.style, shownStyle.style.expression ?? 'Shared style')
    const onSuccess = (profile: { id: string }) => {
      setProfileId(profile.id)
      createLink()
    }
    save.mutate({ item_id: id, asset_key: shownStyle.assetKey, is_default: false, ...saved }, { onSuccess })
  }
  return (
    <>
      <form className={classes(ui.flexColumn, ui.gap12)} onSubmit={send}>
        {type === 'map' ? (
          <p className={classes(ui.soft, ui.small)}>Visitors see all layers of the saved map in its styles. They cannot download files.</p>
        ) : (
          <div>
            <span className={fieldStyles.label}>Permission</span>
            <Segmented label="Permission" value={permission} onChange={setPermission} options={PERMISSIONS} />
          </div>
        )}
        {mayBePublic && (
          <div>
            <span className={fieldStyles.label}>Who can open it</span>
            <Segmented label="Who can open it" value={access} onChange={setAccess} options={ACCESSES} />
          </div>
        )}
        {isPublic && (
          <Note tone="warn" icon="warn">
            Anyone who receives or finds this link can see the {type}, without a password. After you revoke it, copies of its map can remain
            visible for a while.
          </Note>
        )}
        {/* All of a generated password can be read. */}
        {!isPublic && (
          <Field
            label="Password"
            className={fieldStyles.monoField}
            required
            minLength={8}
            value={password}
            onChange={(event) => setPassword(event.target.value)}
            help="Send it separately from the link."
            end={
              <Button
                size="s"
                variant="quiet"
                icon="retry"
                label="Generate another password"
                className={fieldStyles.inField}
                onClick={() => setPassword(newPassword())}
              />
            }
          />
        )}
        <Choice
          label="Expires"
          value={days}
          onChange={(event) => setDays(event.target.value)}
          options={EXPIRY_DAYS.map((count) => ({ value: String(count), text: `in ${plural(count, 'day')}` }))}
          help="You can revoke it at any time."
        />
        {isUnsaved && (
          <p className={classes(ui.soft, ui.small)}>The style is saved as a profile of this item, so that the link opens in it.</p>
        )}
        <FormProblem error={save.error ?? create.error} />
        <Button type="submit" variant="primary" icon="share" busy={save.isPending || create.isPending}>
          Create link
        </Button>
      </form>
      {create.data && (
        <CreatedLink name={name} token={create.data.token} styleId={profileId} password={create.variables.password ?? null} />
      )}
    </>
  )
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' }

/** For a page of another site. */
const embedCode = (url: string, title: string): string =>
  `<iframe src="${url}" title="${title.replace(/[&"<>]/g, (character) => ENTITIES[character]!)}"` +
  ' width="100%" height="480" style="border:0" loading="lazy" allowfullscreen></iframe>'

interface CreatedParts {
  name: string
  token: string
  styleId: string | null
  password: string | null
}

/** The password is the one that the link was created with, if it has one; the form may hold another one by now. */
function CreatedLink({ name, token, styleId, password }: CreatedParts): ReactElement {
  const view = styleId === null ? '' : `#${new URLSearchParams({ style: styleId }).toString()}`
  const url = `${location.origin}/s/${token}${view}`
  const code = embedCode(`${location.origin}/s/${token}/embed${view}`, name)
  return (
    <Note tone="ok" icon="check">
      <b>Link created.</b> Copy it now; it is shown only once.
      <div className={classes(secretStyles.secret, ui.marginTop8)}>
        <output className={classes(ui.mono, ui.grow, ui.ellipsis)} aria-label="Share link">
          {url}
        </output>
        {password === null ? (
          <CopyButton text={url} label="Copy link" variant="primary" />
        ) : (
          <CopyButton text={`${url}\nPassword: ${password}`} label="Copy both" variant="primary" />
        )}
      </div>
      <div className={classes(secretStyles.secret, ui.marginTop8)}>
        <output className={classes(ui.mono, ui.grow, ui.ellipsis)} aria-label="Embed code">
          {code}
        </output>
        <CopyButton text={code} label="Copy embed code" />
      </div>
      <QrCode text={url} label="QR code of the link" />
    </Note>
  )
}

/** What the link opens, with the way to it. */
function ShareTarget({ link: { target_type, target_id, project_id } }: { link: ShareLink }): ReactElement {
  const isItem = target_type === 'item'
  const item = useOp('items.get', { item_id: target_id }, { enabled: isItem, staleTime: 60_000 })
  const isCollection = target_type === 'collection'
  const collection = useOp('collections.get', { project_id, collection_id: target_id }, { enabled: isCollection, staleTime: 60_000 })
  const isMap = target_type === 'map'
  const map = useOp('maps.get', { map_id: target_id }, { enabled: isMap, staleTime: 60_000 })
  const name = item.data?.item.name ?? collection.data?.name ?? map.data?.name ?? `${target_type} ${target_id}`
  if (isMap)
    return (
      <Link to="/maps/$map" params={{ map: target_id }}>
        <b>{name}</b>
      </Link>
    )
  return isItem ? (
    <Link to="/view/$item" params={{ item: target_id }}>
      <b>{name}</b>
    </Link>
  ) : (
    <Link to="/library/$project/$collection" params={{ project: project_id, collection: target_id }}>
      <b>{name}</b>
    </Link>
  )
}

export function ShareRow({ link, mayWrite, named }: { link: ShareLink; mayWrite: boolean; named?: boolean }): ReactElement {
  const revoke = useAct('share.link.revoke', ['share'])
  const permission = PERMISSIONS.find(({ value }) => value === link.permission)!.text
  const isOver = link.revoked_at !== null || Date.parse(link.expires_at) < Date.now()
  return (
    <div className={classes(ui.flexRow, ui.gap12, styles.entry)}>
      <Icon name="share" />
      <span className={ui.grow}>
        {named ? <ShareTarget link={link} /> : <b>{permission}</b>}{' '}
        <span className={ui.soft}>
          {named && `${permission.toLowerCase()}, `}
          {link.is_public && 'public, '}
          {link.revoked_at ? `revoked ${date(link.revoked_at)}` : `${isOver ? 'expired' : 'expires'} ${date(link.expires_at)}`}
        </span>
        <br />
        <span className={classes(ui.soft, ui.small)}>
          {link.access_count === 0
            ? 'never opened'
            : `opened ${plural(link.access_count, 'time')}, last ${ago(link.last_accessed_at ?? link.created_at)}`}
        </span>
      </span>
      {mayWrite && !isOver && (
        <Button variant="danger" size="s" busy={revoke.isPending} onClick={() => revoke.mutate({ link_id: link.id })}>
          Revoke
        </Button>
      )}
    </div>
  )
}
