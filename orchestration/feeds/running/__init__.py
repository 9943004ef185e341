"""How a feed is run and watched; nothing here changes what its data means.

Put here a module for each section of the feed file of that kind. Not here: what decides rows (the modules beside this
package).
"""
