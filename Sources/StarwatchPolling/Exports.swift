// The API of this library is made of these types, so a host imports one module.
@_exported public import StarwatchCore
