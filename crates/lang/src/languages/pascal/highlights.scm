(comment) @comment
(pp) @keyword
(literalString) @string
(literalNumber) @number
[(kTrue) (kFalse) (kNil)] @constant
(typeref (identifier) @type)
(declType name: (identifier) @type)
(kString) @type
(declProc name: [(identifier) @function (genericDot rhs: (identifier) @function)])
(exprCall entity: [(identifier) @function (exprDot rhs: (identifier) @function)])
(declEnumValue name: (identifier) @constant)
(declConst name: (identifier) @constant)
[
  (kAbstract) (kAnd) (kArray) (kAs) (kAsm) (kBegin) (kCase) (kClass) (kConst) (kConstructor) (kDefault) (kDestructor) (kDiv) (kDo)
  (kDownto) (kDynamic) (kElse) (kEnd) (kExcept) (kExports) (kExternal) (kFile) (kFinalization) (kFinally) (kFor) (kForward)
  (kFunction) (kGeneric) (kGoto) (kHelper) (kIf) (kImplementation) (kImplements) (kIn) (kInherited) (kInitialization) (kInline)
  (kInterface) (kIs) (kLabel) (kLibrary) (kMod) (kNot) (kObject) (kOf) (kOn) (kOperator) (kOr) (kOut) (kOverload) (kOverride)
  (kPacked) (kPrivate) (kProcedure) (kProgram) (kProperty) (kProtected) (kPublic) (kPublished) (kRaise) (kRead) (kRecord)
  (kReintroduce) (kRepeat) (kSealed) (kSet) (kShl) (kShr) (kSpecialize) (kStatic) (kStrict) (kThen) (kThreadvar) (kTo) (kTry)
  (kType) (kUnit) (kUntil) (kUses) (kVar) (kVirtual) (kWhile) (kWith) (kWrite) (kXor)
] @keyword
