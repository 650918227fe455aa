// Inline, before the first paint: the theme, so that nobody is dazzled, and whether the sign-in page or the frame is seen first.
;(function () {
  var page = document.documentElement.dataset
  var theme = null
  var known = null
  try {
    theme = localStorage.getItem('gt-theme')
    known = localStorage.getItem('gt-known')
  } catch {}
  page.theme = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches) ? 'dark' : 'light'
  // Whoever is not known here is led to the sign-in, wherever they wanted to go.
  var isAuthPage = /^\/app\/(sign-up|forgot|invite\/|sso|sign-in\/sso)/.test(location.pathname)
  page.first = isAuthPage ? 'auth' : known === null ? 'sign-in' : 'shell'
  var place = page.first === 'shell' ? location.pathname.split('/')[2] || 'explore' : 'auth'
  var chunks = SCREENS[place] || []
  for (var index = 0; index < chunks.length; index++) {
    var link = document.createElement('link')
    link.href = chunks[index]
    link.rel = link.href.endsWith('css') ? 'preload' : 'modulepreload'
    if (link.rel === 'preload') link.as = 'style'
    else link.crossOrigin = ''
    document.head.append(link)
  }
})()
