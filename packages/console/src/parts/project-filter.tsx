/** Which project a list shows, kept in the address. */
import type { ReactElement } from 'react'
import { useUrl } from '../state/url.ts'
import { useProjects } from '../state/who.ts'
import { Choice } from '../ui/kit.ts'

export function ProjectFilter(): ReactElement {
  const [url, setUrl] = useUrl()
  const projects = useProjects()
  return (
    <Choice
      label="Project"
      hideLabel
      value={url['project'] ?? ''}
      onChange={(event) => setUrl({ project: event.target.value || null, page: null })}
      options={[{ value: '', text: 'All projects' }, ...(projects.data?.projects ?? []).map(({ id, name }) => ({ value: id, text: name }))]}
    />
  )
}
